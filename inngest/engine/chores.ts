import type { EngineContext } from './context'
import { sweepOld } from './retention'
import { SWEEP_EVERY_MS } from './settings'
import { expireWaits } from './waits'

/** Work after a heartbeat, run separately so that it cannot delay the next one. One round at a time. */
export class Chores {
  private round: Promise<void> | undefined
  private sweptAt = 0

  constructor(
    private readonly ctx: EngineContext,
    private readonly keepMs: number,
    private readonly on: { stopping(): boolean; failed(error: unknown, what: string): void },
  ) {}

  open(): void {
    this.sweptAt = performance.now()
  }

  begin(waitsDue: boolean): void {
    this.round ??= this.run(waitsDue).finally(() => {
      this.round = undefined
    })
  }

  /** Settles when no round is running. */
  async settled(): Promise<void> {
    await this.round
  }

  private async run(waitsDue: boolean): Promise<void> {
    if (this.on.stopping()) return
    try {
      if (waitsDue) await expireWaits(this.ctx)
      if (performance.now() - this.sweptAt < SWEEP_EVERY_MS) return
      this.sweptAt = performance.now()
      await sweepOld(this.ctx, this.keepMs)
    } catch (error) {
      this.on.failed(error, 'the sweep failed')
    }
  }
}
