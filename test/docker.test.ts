import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { patienceMs } from '@/cli/data-dir'
import { EXIT_MS } from '@/cli/web-process'

const dockerfile = readFileSync('Dockerfile', 'utf8')
const compose = readFileSync('compose.yaml', 'utf8')
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  engines: { node: string }
  scripts: Record<string, string>
  dependencies: Record<string, string>
}
const lines = dockerfile.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
const known = new Set(
  [...readFileSync('.env.example', 'utf8').matchAll(/^([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name),
)

/** The lines of a service of compose.yaml. */
function service(name: string): string {
  return new RegExp(`^  ${name}:\\n((?:    .*\\n|\\n|  #.*\\n)*)`, 'm').exec(compose)?.[1] ?? ''
}

/** A list in brackets, which both files write as JSON. */
function listAfter(text: string, word: string): string[] {
  return JSON.parse(new RegExp(`${word}\\s*(\\[.*\\])`).exec(text)?.[1] ?? '[]') as string[]
}

test('the container starts the same command as npm start, and the release step the same as npm run db:migrate', () => {
  expect(listAfter(lines.at(-1) ?? '', 'CMD').join(' ')).toBe(manifest.scripts.start)
  expect(listAfter(service('migrate'), 'command:').join(' ')).toBe(manifest.scripts['db:migrate'])
})

test('no package needed at run time is a development dependency, which the image leaves out', () => {
  // In this order: a file written after the build makes the first start build again.
  expect(dockerfile).toMatch(/RUN npm run build .*&& npm prune --omit=dev && touch \.next\/BUILD_ID$/m)
  expect(Object.keys(manifest.dependencies)).toEqual(expect.arrayContaining(['next', 'tsx', 'typescript']))
})

test('every stage has the same Node, the one of .nvmrc', () => {
  const images = lines.filter((line) => line.startsWith('FROM')).map((line) => line.split(' ')[1])
  expect(new Set(images)).toEqual(new Set([`node:${readFileSync('.nvmrc', 'utf8').trim()}-slim`]))
})

test('everything it copies exists and is not ignored', () => {
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n')
  const copied = lines.flatMap((line) => (/^COPY (?!--from)(.*) \S+$/.exec(line)?.[1] ?? '').split(' ').filter(Boolean))
  expect(copied).toContain('package-lock.json')
  for (const path of copied) {
    expect(existsSync(path), path).toBe(true)
    expect(ignored).not.toContain(path)
  }
})

test('no secret and no data of this machine gets into a layer', () => {
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n')
  expect(ignored).toEqual(expect.arrayContaining(['.env', '.env.*', '.data', '.git', 'node_modules']))
  expect(dockerfile).not.toMatch(/\b(ARG|ENV)\b.*(KEY|TOKEN|SECRET|PASSWORD)/)
})

test('every setting of the app is one of .env.example, and no secret has a value', () => {
  const settings = [...service('app').matchAll(/^ {6}([A-Z_]+): (.*)$/gm)]
  expect(settings.length).toBeGreaterThan(5)
  for (const [, name, value] of settings) {
    expect(known, name).toContain(name)
    if (/KEY|TOKEN/.test(name ?? '')) expect(value).toBe(`\${${name}:?set it in .env}`)
  }
})

test('the port, the data folder and the health of the container are those of compose.yaml', () => {
  const [, port] = /PORT=(\d+)/.exec(dockerfile) ?? []
  expect(dockerfile).toContain(`EXPOSE ${port}`)
  expect(dockerfile).toContain(`http://127.0.0.1:${port}/api/health`)
  expect(service('app')).toContain(`127.0.0.1:${port}:${port}`)
  expect(service('app')).toContain('files:/data')
  expect(dockerfile).toContain('DATA_DIR=/data')
})

test('every service that another waits for, and every volume that is mounted, is declared', () => {
  const waits = [...compose.matchAll(/depends_on:\n((?: {6}.*\n)+)/g)].flatMap(([, block = '']) =>
    [...block.matchAll(/^ {6}(\w+):/gm)].map(([, name = '']) => name),
  )
  const volumes = [...compose.matchAll(/^ {6}- (\w+):\//gm)].map(([, name = '']) => name)
  expect(waits.length).toBeGreaterThan(2)
  for (const name of waits) expect(service(name), name).not.toBe('')
  const declared = compose.slice(compose.indexOf('\nvolumes:'))
  for (const name of volumes) expect(declared).toContain(`\n  ${name}:`)
})

test('compose.yaml is YAML, and every service has an image or a build', () => {
  const { services } = parse(compose) as { services: Record<string, { image?: string; build?: string }> }
  expect(Object.keys(services)).toEqual(['app', 'migrate', 'postgres', 'inngest', 'redis'])
  for (const [name, { image, build }] of Object.entries(services)) expect(image ?? build, name).toMatch(/\S/)
})

test('a container has the time that its launcher may take to stop', () => {
  const [, seconds] = /^ +stop_grace_period: (\d+)s$/m.exec(service('app')) ?? []
  expect(Number(seconds) * 1_000).toBeGreaterThanOrEqual(patienceMs({ stopping: EXIT_MS }))
  expect(dockerfile).toContain(`--stop-timeout ${seconds}`)
  expect(readFileSync('docs/operations.md', 'utf8')).toContain(`--stop-timeout ${seconds}`)
})

test('app and release step are one image, and every other image is an exact version', () => {
  const { services } = parse(compose) as { services: Record<string, { image: string; build?: string }> }
  expect(services.migrate?.image).toBe(services.app?.image)
  expect(Object.keys(services).filter((name) => services[name]?.build)).toEqual(['app'])
  for (const name of ['postgres', 'inngest', 'redis']) expect(services[name]?.image, name).toMatch(/:v?\d+\.\d+/)
})

test('Inngest’s data is in its volume, which it may write to', () => {
  expect(service('inngest')).toContain('INNGEST_SQLITE_DIR: /data')
  expect(service('inngest')).toContain('- inngest:/data')
  expect(service('inngest')).toContain('user: "0"')
})

test('the Redis of Inngest is durable, and its open dashboard is not published', () => {
  expect(listAfter(service('redis'), 'command:').join(' ')).toContain('--appendonly yes')
  expect(service('inngest')).not.toContain('ports:')
})
