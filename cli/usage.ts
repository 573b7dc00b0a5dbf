/** The command line is invalid. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export type Flags = Record<string, string | boolean | undefined>
