import { relative } from 'node:path'
import { print, styles } from './print'

export interface Ready {
  version: string
  seconds: number
  url: string
  tenantId: string
  /** Set only if it may be shown: at the first start, on a developer's machine. */
  apiKey: string | undefined
  credentialsFile: string
  dataDir: string
  embedded: boolean
  /** `off` if other processes run it. */
  engine: 'embedded' | 'inngest' | 'off'
  firstBoot: boolean
  /** True until the service has an owner. */
  needsOwner: boolean
  /** Set when the first visitor may come from another machine, which requires the token. */
  setupToken: string | null
  dev: boolean
}

/** Prints the summary shown when the service is ready. */
export function printBanner(ready: Ready): void {
  const { bold, dim } = styles(process.stdout)
  const row = (name: string, value: string, hint = '') =>
    print(`  ${name.padEnd(12)} ${value}${hint && `  ${dim(hint)}`}`)
  const file = shortPath(ready.credentialsFile)

  print()
  print(`  ${bold(`Millrace ${ready.version}`)}${ready.dev ? ' (dev)' : ''}   ready in ${ready.seconds.toFixed(1)} s`)
  print()
  row('Dashboard', ready.url, ready.needsOwner ? 'the first visitor becomes the owner' : '')
  if (ready.setupToken)
    row('Setup token', ready.setupToken, 'the first visitor needs it when coming from another machine')
  row('API', `${ready.url}/api`, 'reference: /reference   openapi: /api/openapi.json')
  if (ready.embedded) {
    row('Database', `embedded Postgres in ${shortPath(ready.dataDir)}`, 'set DATABASE_URL to use your own')
  } else row('Database', 'DATABASE_URL')
  if (ready.engine === 'embedded')
    row('Engine', 'in-process', 'set INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY to use Inngest')
  else if (ready.engine === 'off') row('Engine', 'in other processes', 'start them with npm run worker')
  else row('Engine', 'Inngest')
  print()
  row('Tenant id', ready.tenantId)
  if (ready.apiKey) row('API key', ready.apiKey, `shown only now; also in ${file}`)
  else if (ready.firstBoot) row('API key', `in ${file}`)
  else row('API key', `in ${file}; create more under Settings`)
  print()
  if (!ready.firstBoot) return
  print('  Try it:')
  for (const line of curl(ready)) print(`    ${line}`)
  print()
}

function curl({ url, apiKey, tenantId, credentialsFile }: Ready): string[] {
  const key = apiKey ? `'x-api-key: ${apiKey}'` : `"x-api-key: $(node -p 'require("${credentialsFile}").apiKey')"`
  return [
    `curl -s -X POST ${url}/api/workflow/start-async/wf_hello \\`,
    `  -H ${key} -H 'x-tenant-id: ${tenantId}' \\`,
    `  -H 'content-type: application/json' -d '{"name":"Ada"}'`,
  ]
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path)
  return short && !short.startsWith('..') ? `./${short}` : path
}
