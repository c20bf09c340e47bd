"""Charts: data and specification first, drawn last."""
