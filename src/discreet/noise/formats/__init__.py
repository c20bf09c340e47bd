"""p-table files: what offices already have, read and written exactly on the file's own grid."""
