import { sqlState, within } from './deadline'
import { shared } from './shared'
import { openDriver } from './url'

/**
 * Prepared statement not found; prepared statement exists; and the transaction aborted, which the driver's second try
 * gets.
 */
const LOST = new Set(['26000', '42P05', '25P02'])
const PROBE_MS = 3_000

/**
 * Detects whether prepared statements survive on this URL, and disables them for its pools if not: a pooler in
 * transaction mode that does not track them loses them.
 * @returns false if they are disabled
 */
export async function checkPreparing(url: string): Promise<boolean> {
  const options = { max: 1, fetch_types: false, connection: { application_name: 'millrace-probe' } }
  const drivers = [openDriver(url, options), openDriver(url, options)] as const
  const [prober, other] = drivers
  // In a transaction, so that the driver cannot hide the loss by preparing the statement again.
  const ask = () => prober.begin((tx) => tx.unsafe('select $1::text as probe', ['x'], { prepare: true }))
  try {
    await within(ask(), PROBE_MS)
    // While the other transaction holds the server's connection, the next statement gets a different one.
    const elsewhere = other.begin(async (tx) => {
      await tx`select 1`
      await Promise.race([ask(), wait(PROBE_MS / 3)])
    })
    await within(elsewhere, PROBE_MS)
    return true
  } catch (error) {
    if (!LOST.has(sqlState(error) ?? '')) throw error
    shared().unprepared.add(url)
    return false
  } finally {
    for (const driver of drivers) driver.end({ timeout: 0 }).catch(() => {})
  }
}

/** A pooler with a single connection makes the probe wait, and then loses no statements either. */
function wait(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms).unref())
}
