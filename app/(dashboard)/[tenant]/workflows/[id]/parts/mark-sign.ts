import { type ComponentType, createContext } from 'react'
import type { Mark } from './change-mark'

/** Draws the signs of differences. Null in the editor itself, which shows none and need not load them. */
export const MarkSign = createContext<ComponentType<{ mark: Mark }> | null>(null)
