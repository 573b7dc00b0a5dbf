import { processWide } from '@/db/process-wide'
import { AppError } from '../../errors'

/** How long one request tries runs. Platforms end requests that take longer. */
export const LONGEST_MS = 25_000

const underWay = () => processWide('backtests', () => new Set<string>())

/**
 * Does the work of a backtest while the tenant has no other one under way.
 * @throws AppError RATE_LIMITED
 */
export async function oneAtATime<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
  const tenants = underWay()
  if (tenants.has(tenantId)) {
    const details = [{ message: 'Another backtest of this workspace is under way.' }]
    throw new AppError('RATE_LIMITED', { details, headers: { 'retry-after': '5' } })
  }
  tenants.add(tenantId)
  try {
    return await work()
  } finally {
    tenants.delete(tenantId)
  }
}
