/**
 * A budget for work whose cost its author chooses: counted and not timed, so that the same input always gets the same
 * result, however busy the machine is.
 */
export class Effort {
  constructor(private left: number) {}

  /** Spends this amount if the budget allows it. After the first excess, nothing more is allowed. */
  allows(amount: number): boolean {
    this.left = amount > this.left ? 0 : this.left - amount
    return this.left > 0
  }
}
