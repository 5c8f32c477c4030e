"""One small emitter per product: model in, {path below generated/: text} out."""
