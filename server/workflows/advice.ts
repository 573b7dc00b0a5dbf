import type { ServiceContext } from '../context'

/**
 * The result of work that only advises: hints, suggestions, previews, counts. If it fails, that is logged, and whatever it
 * was to advise on goes on without it.
 * @param about what the log says of it
 * @param without what is used in its place
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
