import { network } from '@/app/_ui/network'
import type { fixOf } from '../model/fixes'

let loaded: typeof fixOf | null = null

/**
 * Loads the code that knows the fixes of problems. Not part of the page's first load: opening a draft waits for the
 * server's check anyway. Without a network, both wait for it.
 */
export async function loadFixes(): Promise<void> {
  if (loaded) return
  try {
    loaded = (await network.load(() => import('../model/fixes'))).fixOf
  } catch {
    // The next editor that opens retries.
  }
}

/** The fix of a problem, or null if the user must decide or the fixes are not loaded yet. */
export const loadedFixOf: typeof fixOf = (definition, catalog, problem) =>
  loaded?.(definition, catalog, problem) ?? null
