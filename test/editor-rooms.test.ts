import { describe, expect, test } from 'vitest'
import { files, imports } from './support/imports'

const EDITOR = 'app/(dashboard)/[tenant]/workflows/[id]/'

/** The folders of the workflow editor from the bottom up: a folder imports only from lower floors. */
const FLOORS = [
  ['model'],
  ['parts', 'draft', 'presence'],
  ['actions'],
  ['widgets'],
  ['canvas'],
  ['views', 'inspector', 'panels', 'dialogs'],
  ['editor'],
  // The other pages of the workflow.
  ['runs', 'insights', 'versions', 'settings'],
]

/** The folder of a file or import path; null for the files that Next looks for. */
function roomOf(path: string): string | null {
  return /^[^/]+(?=\/)/.exec(path.slice(EDITOR.length))?.[0] ?? null
}

function floorOf(path: string): number {
  const room = roomOf(path)
  return room === null ? FLOORS.length : FLOORS.findIndex((floor) => floor.includes(room))
}

const isEditor = (path: string) => path.startsWith(EDITOR)

describe('the rooms of the workflow editor', () => {
  test('hold every file but those that Next looks for', () => {
    const ours = files.filter(isEditor)
    expect(ours).not.toEqual([])
    expect(ours.filter((file) => floorOf(file) === -1)).toEqual([])
    expect(ours.filter((file) => roomOf(file) === null && !/\/(page|loading|error)\.tsx$/.test(file))).toEqual([])
  })

  test('import only from the floors below', () => {
    const upward = imports.filter(
      ({ from, to }) => isEditor(from) && isEditor(to) && roomOf(from) !== roomOf(to) && floorOf(to) >= floorOf(from),
    )
    expect(upward.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })
})
