"""Real persons to try things on: 10,000 records of a census and a programme of tables; source and licence beside."""
