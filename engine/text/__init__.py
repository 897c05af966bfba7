"""Text in, text out: tokenizer, chat template, the DSML format and its parser. No torch here."""
