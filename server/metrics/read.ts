import { createHash, timingSafeEqual } from 'node:crypto'
import { countRefusal } from '../auth/limits'
import { now } from '../clock'
import { database } from '../database'
import { env } from '../env'
import { AppError } from '../errors'
import { readShared } from './database'
import { ownFigures, sharedFigures } from './figures'
import { metricsText } from './text'

/**
 * The metrics of this process and of the database, for Prometheus.
 * @throws AppError NOT_FOUND without a token in the settings, UNAUTHORIZED, RATE_LIMITED
 */
export async function readMetrics(headers: Headers): Promise<string> {
  const { METRICS_TOKEN: token } = env()
  if (token === undefined) {
    throw new AppError('NOT_FOUND', { details: [{ message: 'The service has no metrics: METRICS_TOKEN is not set.' }] })
  }
  const sent = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  if (sent === undefined || !isSame(sent, token)) {
    await countRefusal('metrics', headers, database().db, now())
    throw new AppError('UNAUTHORIZED')
  }
  return metricsText([...sharedFigures(await readShared()), ...ownFigures()])
}

/** Hashed, so that the time does not depend on where they differ. */
function isSame(sent: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(sent), hash(token))
}
