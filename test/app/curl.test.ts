import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { curlCommand } from '@/app/_ui/curl'
import { curl } from '@/app/(dashboard)/[tenant]/_versioned/curl'
import { curlFormSample, curlSample, sampleCall, typescriptSample } from '@/app/reference/samples'
import { openApiDocument } from '@/server/rest/openapi-document'

const place = { origin: 'http://localhost:3000', tenantId: 'ten_1' }
const sample = {
  method: 'POST',
  url: 'http://localhost:3000/api/x',
  headers: {},
  secured: true,
  accepts: 'json',
} as const

test('all commands begin alike, and name key and workspace alike', () => {
  const commands = [
    curl({ ...place, path: '/api/workflows?limit=5' }),
    curl({ ...place, path: '/api/chat', body: { message: "it's" }, accept: 'text/event-stream' }),
    curl({ ...place, path: '/api/workflow/start/wf_1', form: ['attachment=@file.pdf'] }),
    curlSample({ ...sample, body: { a: 1 } }),
    curlSample({ ...sample, method: 'DELETE' }),
    curlSample({ ...sample, method: 'GET', accepts: 'bytes' }),
    curlFormSample({ ...sample, url: 'http://localhost:3000/api/workflow/start/wf_x' }),
  ]
  for (const command of commands) {
    const [first, second] = command.split(' \\\n  ')
    expect(first, command).toMatch(/^curl -[sN] (-X (POST|PUT|PATCH|DELETE) )?('.*'|\S+)$/)
    expect(second, command).toMatch(/^-H "x-api-key: \$API_KEY" -H ("x-tenant-id: \$TENANT_ID"|'x-tenant-id: ten_1')$/)
  }
})

test('a call that needs no key sends none', () => {
  expect(curlSample({ ...sample, method: 'GET', secured: false })).toBe('curl -s http://localhost:3000/api/x')
})

test('a call whose body is a file sends it, with the headers that it needs', () => {
  const document = openApiDocument('https://flow.example.com')
  const path = '/api/files/{id}/content'
  const operation = document.paths[path]?.put
  if (!operation) throw new Error(`no PUT ${path}`)
  const call = sampleCall(document, 'PUT', path, operation)
  expect(curlSample(call).split(' \\\n  ')).toEqual([
    expect.stringMatching(/^curl -s -X PUT https:\/\/flow\.example\.com\/api\/files\/[0-9a-f-]{36}\/content$/),
    expect.stringMatching(/^-H 'x-upload-token: eyJ[\w.-]+'$/),
    `-H 'content-type: application/octet-stream'`,
    '--data-binary @report.pdf',
  ])
  expect(typescriptSample(call)).toContain("body: await readFile('report.pdf'),")
  expect(typescriptSample(call)).toContain("'x-upload-token': 'eyJ")
})

test('a shell reads back the original values, regardless of their contents', () => {
  const odd = `it's "$HOME" \`id\` \\ ! ü\nnext`
  const command = curlCommand({ url: 'http://x/?q=a&b=c d', key: odd, tenantId: odd, form: [`a=${odd}`], body: odd })
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`])
    .toString()
    .split('\0')
  expect(words).toEqual([
    ...['-s', '-X', 'POST', 'http://x/?q=a&b=c d', '-H', `x-api-key: ${odd}`, '-H', `x-tenant-id: ${odd}`],
    ...['-F', `a=${odd}`, '-H', 'content-type: application/json', '-d', odd, ''],
  ])
})

test('no page, text or document has a command in a dialect of its own', () => {
  const files = execFileSync('git', ['ls-files', 'app', 'cli', 'server', 'docs/*.md', 'README.md']).toString().trim()
  const own = files.split('\n').flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      // A command, not the word: arguments of one follow.
      .filter((line) => /(^\s*|[`'"])curl (-|'|"|https?:|\$)/.test(line))
      .filter((line) => !/curl (-[sN] |\$\{stream)/.test(line) || /\$(MILLRACE_API_)?KEY\b/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(own).toEqual([])
})
