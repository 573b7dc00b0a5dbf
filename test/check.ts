import { print } from '@/cli/print'
import { total } from './support/counts'
import { lint, seconds, types } from './support/programs'
import { vitest } from './support/runners'

// `npm run check`: types, lint, the architecture rules, and every test that needs neither a database nor the service.

const from = Date.now()
const tests = vitest('tests', ['--project', 'check', '--project', 'unit*'])
const { line, failed, failures } = total(await Promise.all([types(), lint(), tests]))
print(`It took ${seconds(from)}.`)
for (const failure of failures) print(`FAILED ${failure}`)
print(line)
process.exit(failed === 0 ? 0 : 1)
