"""The names that other projects' documents promise, thin over the core. Nothing in toolbridge imports this package."""
