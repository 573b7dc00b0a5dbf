import { vi } from 'vitest'

// For files that change what other modules read when they are loaded: they load all modules again. Only what comes from
// node_modules stays, which takes most of the start of a process.
vi.resetModules()
