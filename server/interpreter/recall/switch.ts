import { env } from '../../env'

/** Whether this process uses what it remembers. Tests turn it off: the rows alone must suffice. */
export function recalls(): boolean {
  return env().MILLRACE_TEST_RECALL !== 'off'
}
