/**
 * How much may be done for something whose cost its author chooses: counted and not timed, so that the same input always
 * gets the same result, however busy the machine is.
 */
export class Effort {
  constructor(private left: number) {}

  /** Counts it, if that much is left. Once something was too much, nothing more is done. */
  allows(amount: number): boolean {
    this.left = amount > this.left ? 0 : this.left - amount
    return this.left > 0
  }
}
