import type { fixOf } from '../model/fixes'

let loaded: typeof fixOf | null = null

/**
 * Loads what knows the fixes of problems. Whoever opens a draft waits for the server's check of it anyway, so this is not
 * part of the page's first load. Without it, as when the connection is lost, problems have no fixes.
 */
export async function loadFixes(): Promise<void> {
  if (loaded) return
  try {
    loaded = (await import('../model/fixes')).fixOf
  } catch {
    // The next editor that opens tries again.
  }
}

/** The fix of a problem, or null when it needs a person's decision. Knows none before they are loaded. */
export const loadedFixOf: typeof fixOf = (definition, catalog, problem) =>
  loaded?.(definition, catalog, problem) ?? null
