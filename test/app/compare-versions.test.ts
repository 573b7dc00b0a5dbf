import { expect, test } from 'vitest'
import { firstChoices, sameText } from '@/app/(dashboard)/[tenant]/agents/[agentId]/compare-versions'

const published = { version: 2, publishedVersion: 2 }

test('a comparison begins with two that differ, the newer one second', () => {
  expect(firstChoices(published, 'unsaved')).toEqual(['published', 'screen'])
  expect(firstChoices(published, 'version')).toEqual(['1', 'screen'])
  expect(firstChoices({ version: 3, publishedVersion: 1 }, 'version')).toEqual(['published', 'screen'])
  expect(firstChoices({ version: 3, publishedVersion: null }, 'version')).toEqual(['2', 'screen'])
  expect(firstChoices(published, null)).toEqual(['1', 'latest'])
  expect(firstChoices({ version: 1, publishedVersion: 1 }, 'version')).toEqual(['published', 'screen'])
})

test('two choices that are the same version are called so', () => {
  expect(sameText(published, 'version', ['published', 'screen'])).toBe(
    'Both are version 2. Choose another one, or change something.',
  )
  expect(sameText(published, null, ['published', 'latest'])).toBe('Both are version 2. Choose another one.')
  expect(sameText(published, 'draft', ['screen', 'screen'])).toBe('Both are the draft on screen. Choose another one.')
  expect(sameText(published, 'draft', ['published', 'screen'])).toBeNull()
  expect(sameText(published, 'version', ['1', 'screen'])).toBeNull()
})
