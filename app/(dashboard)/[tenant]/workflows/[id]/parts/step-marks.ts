import { useSyncExternalStore } from 'react'
import { keep, readKept } from '../../../kept'

/** What the graph marks while a draft is stepped through. */
export interface StepMarks {
  /** The steps before which it stops. */
  breakpoints: readonly string[]
  /** The step that comes next. */
  next: string | null
  passed: readonly string[]
}

const NONE: StepMarks = { breakpoints: [], next: null, passed: [] }

// Only one editor is open at a time. Null while nothing is stepped through: the graph then shows no marks.
let marks: StepMarks | null = null
let key = ''
const listeners = new Set<() => void>()

function set(now: StepMarks | null): void {
  marks = now
  for (const listener of listeners) listener()
}

/** Shows the marks of a workflow, with the breakpoints that this browser has kept. @returns a function that ends that */
export function showMarks(tenantId: string, workflowId: string): () => void {
  key = `millrace-breakpoints:${tenantId}:${workflowId}`
  set({ ...NONE, breakpoints: parsed(readKept(key)) })
  return () => set(null)
}

export function markWay(next: string | null, passed: readonly string[]): void {
  if (marks) set({ ...marks, next, passed })
}

/** Sets a breakpoint at a step, or removes it. */
export function toggleBreakpoint(stepId: string): void {
  if (!marks) return
  const { breakpoints } = marks
  const others = breakpoints.filter((id) => id !== stepId)
  const now = others.length < breakpoints.length ? others : [...others, stepId]
  keep(key, now.length === 0 ? null : JSON.stringify(now))
  set({ ...marks, breakpoints: now })
}

function parsed(text: string | null): string[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(found) ? found.filter((id): id is string => typeof id === 'string') : []
  } catch {
    return []
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Null while nothing is stepped through. */
export function useStepMarks(): StepMarks | null {
  return useSyncExternalStore(
    subscribe,
    () => marks,
    () => null,
  )
}
