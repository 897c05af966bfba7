"""What the index-K store wrote, held against who owned the page: dead rows and aliased rows."""
