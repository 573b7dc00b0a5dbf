import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

// A test file's imports decide which project of `vitest.config.ts` it runs in, so every file has exactly one. Plain
// JavaScript, because Vite reads its config and the config's imports without a loader.

/** @typedef {'check' | 'unit' | 'unit alone' | 'main' | 'main alone' | 'service' | 'processes'} Project */

/**
 * Imports that start what a project needs, strongest first.
 * @type {[Project, RegExp][]}
 */
const NEEDS = [
  ['service', /^test\/support\/service\.ts$/],
  ['main', /^(test\/support\/(postgres|db)\.ts|db\/(index|connect|embedded|migrate)|postgres)$/],
]
/** Imports needed at run time, which excludes imports of types. */
const IMPORT = /(?:^(?:import|export)\s(?!type\s)[^'"`;]*?|\bimport\()'([^']+)'/gm

/** Code that changes the process for everything that runs in it afterwards. */
const STATE = /process\.env|\bvi\.(stub|mock|doMock|useFake|setSystem)|stopSandbox|process\.(on|chdir)\b/

/** Settings and stand-ins that modules read when they are loaded. */
const LOADED = /\bvi\.(mock|doMock)|\b(INNGEST_(EVENT|SIGNING|BASE|DEV)\w*|VERCEL|ENGINE): /

/**
 * All test files by project.
 * @param {string} root
 * @param {string[]} without files to leave out
 */
export function projects(root = process.cwd(), without = []) {
  /** @type {Record<Project, string[]>} */
  const found = { check: [], unit: [], 'unit alone': [], main: [], 'main alone': [], service: [], processes: [] }
  for (const file of testFiles(root)) if (!without.includes(file)) found[projectOf(root, file)].push(file)
  return found
}

/** @param {string} root */
function testFiles(root) {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
}

/** @param {string} root @param {string} file @returns {Project} */
function projectOf(root, file) {
  // The architecture rules, which check the sources and not their behaviour.
  if (dirname(file) === 'test') return 'check'
  const reached = [...reachedFrom(root, file)]
  const need = NEEDS.find(([, needed]) => reached.some((path) => needed.test(path)))
  // Calls to a service that lives as long as its file, or services that are started, killed and stopped all the time.
  if (need?.[0] === 'service') return file.startsWith('test/api/') ? 'service' : 'processes'
  const texts = reached
    .filter((path) => path.startsWith('test/') && path.endsWith('.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
  if (need) return texts.some((text) => LOADED.test(text)) ? 'main alone' : 'main'
  const alone = texts.some((text) => STATE.test(text))
  return alone ? 'unit alone' : 'unit'
}

/**
 * The files of `test` that a file reaches, including itself, and their imports from the product.
 * @param {string} root
 * @param {string} file
 */
function reachedFrom(root, file) {
  const reached = new Set([file])
  for (const from of reached) {
    if (!from.startsWith('test/') || !from.endsWith('.ts')) continue
    const text = readFileSync(join(root, from), 'utf8')
    for (const [, name = ''] of text.matchAll(IMPORT)) {
      const path = name.startsWith('.') ? normalize(join(dirname(from), name)) : name.replace(/^@\//, '')
      const to = [`${path}.ts`, `${path}/index.ts`].find((at) => at.startsWith('test/') && existsSync(join(root, at)))
      reached.add(to ?? path)
    }
  }
  return reached
}
