'use client'
import { useCallback, useState } from 'react'
import type { RunPart } from '@/server/definition/part'
import type { Entry, Typed } from '../../start-values'
import type { TestedSteps } from './tested'

/** A test run shown by the editor, on the canvas and in its panel. */
export interface StartedTest {
  runId: string
  part: RunPart | null
}

export interface TestRunState {
  run: StartedTest | null
  /** The run's result for each step; null without a run. */
  steps: TestedSteps | null
  /** The step up to which the next test runs; null for the whole draft. */
  to: string | null
  setTo: (stepId: string | null) => void
  /** The input for START fields, held while the editor is open: it may be a file or personal data. */
  typed: Typed
  type: (name: string, entry: Entry) => void
  start: (run: StartedTest) => void
  clear: () => void
  onTested: (steps: TestedSteps) => void
}

/** The latest test run started here. */
export function useTestRun(): TestRunState {
  const [run, setRun] = useState<StartedTest | null>(null)
  const [steps, setSteps] = useState<TestedSteps | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [typed, setTyped] = useState<Typed>({})
  const type = useCallback((name: string, entry: Entry) => setTyped((before) => ({ ...before, [name]: entry })), [])
  const start = useCallback((started: StartedTest | null) => {
    setRun(started)
    setSteps(started && new Map())
  }, [])
  const clear = useCallback(() => start(null), [start])
  return { run, steps, to, setTo, typed, type, start, clear, onTested: setSteps }
}
