"""The constructed language model: DeepSeek-V4's structure with weights in closed form."""
