import type { Visit } from '../../run-store/names'
import type { Drive, StartedAttempt } from './types'

const NO_ENGINE = { stopping: () => false, guaranteeNextStep: () => {}, rests: false }

/** Passes a step that was begun with the record of the previous step to the next visit in this process. */
export class NextStep implements Drive {
  private begun: StartedAttempt | null = null

  /** @param enabled false when each step may be called in another process, which would then count a second attempt */
  constructor(
    public enabled: boolean,
    private readonly engine: { stopping: () => boolean; guaranteeNextStep: () => void; rests: boolean } = NO_ENGINE,
  ) {}

  /** Whether the walk rests at a pause. */
  get rests(): boolean {
    return this.engine.rests
  }

  /** Whether this process is stopping. */
  get stopping(): boolean {
    return this.engine.stopping()
  }

  get attempt(): 0 | 1 {
    return this.enabled && !this.stopping ? 1 : 0
  }

  give(begun: StartedAttempt | null): void {
    this.begun = begun
    if (begun) this.engine.guaranteeNextStep()
  }
  take(at: Visit): StartedAttempt | null {
    const begun = this.begun
    this.begun = null
    return begun && begun.at.stepId === at.stepId && begun.at.visit === at.visit ? begun : null
  }
}
