"""Where publishing, attacking and risk meet: experiments, and what the data add to a formula."""
