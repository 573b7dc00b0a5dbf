export interface QueueLimits {
  scripts: number
  /** Characters of code and input. */
  chars: number
}

export interface Waiting {
  tenantId: string
  chars: number
}

/**
 * Scripts waiting for a worker; PDFs wait for a thread in the same way. Tenants take turns and each tenant's scripts stay in order, so a tenant with a thousand
 * waiting scripts delays another tenant by one script. The limits apply to all tenants together: beyond one, the tenant
 * with the longest queue loses its newest script.
 */
export class Turns<J extends Waiting> {
  readonly #limits: QueueLimits
  /** In order of their turns; contains only tenants with waiting scripts. */
  readonly #tenants = new Map<string, J[]>()

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /** @returns the scripts pushed out of the queue, possibly this one */
  add(job: J): J[] {
    this.#of(job.tenantId).push(job)
    const out: J[] = []
    for (let over = this.#exceeded(); over; over = this.#exceeded()) {
      const last = this.#largest(over)
      if (!last) break
      this.remove(last)
      out.push(last)
    }
    return out
  }

  /** Puts a script back at the front of its tenant's queue. */
  putBack(job: J): void {
    this.#of(job.tenantId).unshift(job)
  }

  /** Takes the next script of the first tenant that may run one, and moves that tenant to the end. */
  take(mayRun: (tenantId: string) => boolean): J | undefined {
    for (const [tenantId, jobs] of this.#tenants) {
      if (!mayRun(tenantId)) continue
      this.#tenants.delete(tenantId)
      const job = jobs.shift()
      if (jobs.length > 0) this.#tenants.set(tenantId, jobs)
      return job
    }
    return undefined
  }

  remove(job: J): void {
    const jobs = this.#tenants.get(job.tenantId)
    const place = jobs?.indexOf(job) ?? -1
    if (!jobs || place < 0) return
    jobs.splice(place, 1)
    if (jobs.length === 0) this.#tenants.delete(job.tenantId)
  }

  /** How many scripts of each tenant are waiting. */
  *counts(): Generator<[tenantId: string, scripts: number]> {
    for (const [tenantId, jobs] of this.#tenants) yield [tenantId, jobs.length]
  }

  removeAll(): J[] {
    const jobs = [...this.#tenants.values()].flat()
    this.#tenants.clear()
    return jobs
  }

  #of(tenantId: string): J[] {
    const jobs = this.#tenants.get(tenantId) ?? []
    this.#tenants.set(tenantId, jobs)
    return jobs
  }

  #exceeded(): ((jobs: J[]) => number) | null {
    const all = [...this.#tenants.values()].flat()
    if (all.length > this.#limits.scripts) return (jobs) => jobs.length
    return charsOf(all) > this.#limits.chars ? charsOf : null
  }

  #largest(size: (jobs: J[]) => number): J | undefined {
    let most: J[] = []
    for (const jobs of this.#tenants.values()) if (size(jobs) > size(most)) most = jobs
    return most.at(-1)
  }
}

function charsOf(jobs: readonly Waiting[]): number {
  return jobs.reduce((sum, { chars }) => sum + chars, 0)
}
