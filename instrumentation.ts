/** Next calls this once in each server process, before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { requireSettings } = await import('./instrumentation-settings')
  requireSettings()
  const { boot } = await import('./instrumentation-node')
  await boot()
}
