import { explainable } from '@/server/interpreter/index'
import { print, printError } from './print'

// `npm run -s sql -- owner finish-visit`: prints a statement of the interpreter, with a row, to read or to pass to
// `explain`. It also accepts the comment at the end of a statement.

function namesIn(args: readonly string[]): string[] {
  return args.flatMap((arg) => arg.split(',')).map((name) => name.trim().replaceAll('-', ' '))
}

try {
  print(explainable(namesIn(process.argv.slice(2))))
} catch (err) {
  if (!(err instanceof RangeError)) throw err
  printError(`${err.message}\nUsage: npm run -s sql -- owner finish-visit move-run`)
  process.exitCode = 2
}
