import { network } from '@/app/_ui/network'
import type { fixOf, withNames } from '../model/fixes'

let loaded: { fixOf: typeof fixOf; withNames: typeof withNames } | null = null

/**
 * Loads the code that knows the fixes of problems and names their steps. Not part of the page's first load: opening a draft waits for the
 * server's check anyway. Without a network, both wait for it.
 */
export async function loadFixes(): Promise<void> {
  if (loaded) return
  try {
    loaded = await network.load(() => import('../model/fixes'))
  } catch {
    // The next editor that opens retries.
  }
}

/** The fix of a problem, or null if the user must decide or the fixes are not loaded yet. */
export const loadedFixOf: typeof fixOf = (definition, catalog, problem) =>
  loaded?.fixOf(definition, catalog, problem) ?? null

/** The problems as screens say them, or as the check does while that code is not loaded. */
export const loadedNames: typeof withNames = (problems, definition, catalog) =>
  loaded?.withNames(problems, definition, catalog) ?? [...problems]
