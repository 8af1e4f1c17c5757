"""Records stay with their owners, and the model travels from one to the next."""
