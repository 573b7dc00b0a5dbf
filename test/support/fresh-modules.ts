import { vi } from 'vitest'

// For files that change what other modules read when loaded: they reload all modules. Only those in node_modules stay,
// which take most of a process's start.
vi.resetModules()
