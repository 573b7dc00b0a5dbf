import { env } from '../../env'

/** Whether anything here is found. Tests turn it off: whatever a process remembers, the rows alone must do. */
export function recalls(): boolean {
  return env().MILLRACE_TEST_RECALL !== 'off'
}
