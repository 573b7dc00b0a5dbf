/** What a command has found: for people and, with `--json`, for programs. */
export class Report {
  constructor(
    readonly text: string,
    readonly json: object,
    readonly code = 0,
  ) {}
}
