/** Actors that are neither a person nor a key. */
export const SYSTEM_ACTORS: Record<string, string> = {
  system: 'the system',
  'first-boot': 'the first boot',
  setup: 'the setup',
  'admin-command': 'the admin command',
  'task-link': 'a task link',
}
