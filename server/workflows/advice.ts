import type { ServiceContext } from '../context'

/**
 * The result of work that only advises: hints, suggestions, previews, counts. If it fails, the failure is logged, and
 * the work it advises on continues without it.
 * @param about the name of the work in the log
 * @param without the fallback result
 */
export async function advice<T>(
  { log }: Pick<ServiceContext, 'log'>,
  about: string,
  work: () => Promise<T>,
  without: T,
): Promise<T> {
  try {
    return await work()
  } catch (err) {
    log.warn({ err, about }, 'advice failed')
    return without
  }
}
