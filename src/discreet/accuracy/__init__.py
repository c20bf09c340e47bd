"""What the noise does to users: published counts beside true ones, for the curator's eyes."""
