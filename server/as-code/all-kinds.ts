import { type Kind, VERSIONED_KINDS } from './kinds'
import { STARTER_KINDS } from './starters/kinds'

/** In export order. */
export const KINDS: readonly Kind[] = [...VERSIONED_KINDS, ...STARTER_KINDS]
