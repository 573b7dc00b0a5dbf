/** A command's findings: for people and, with `--json`, for programs. */
export class Report {
  constructor(
    readonly text: string,
    readonly json: object,
    readonly code = 0,
  ) {}
}
