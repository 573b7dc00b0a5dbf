import { type Kind, VERSIONED_KINDS } from './kinds'
import { STARTER_KINDS } from './starters/kinds'

/** In the order in which they are exported. */
export const KINDS: readonly Kind[] = [...VERSIONED_KINDS, ...STARTER_KINDS]
