'use client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { errorOf } from '@/app/_trpc/client'
import type { Definition } from '@/server/workflows/schema'
import { definitionOf, type Layout } from '../model/definition'
import { merge, sameDefinition } from '../model/merge'
import { type CrashCopy, removeCrashCopy } from './device-copy'
import {
  type Draft,
  type DraftAction,
  type DraftState,
  initialState,
  isDirty,
  reduceDraft,
  type Saved,
} from './draft-state'
import { flushFields } from './use-committed'
import { useKeptCopy } from './use-kept-copy'

/** A workflow as the server has it. */
export interface Loaded extends Saved {
  layout: Layout
  publishedVersion: number | null
  updatedBy: string
}

/** The calls a draft lives from. */
export interface DraftServer {
  load(): Promise<Loaded>
  /** @throws VERSION_CONFLICT when `base` is not the newest version (any more) */
  save(definition: Definition, base: number): Promise<{ version: number; publishedVersion: number | null }>
  saveLayout(layout: Layout): Promise<void>
}

const AUTOSAVE_AFTER_MS = 1_200
/** Failures that pass by themselves. */
const PASSING = ['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL']
const RETRY_OFFLINE_MS = 5_000
/** How often a draft without changes of its own looks for those of others. */
const LOOK_EVERY_MS = 20_000

export interface DraftControl {
  state: DraftState
  /** The newest state, also between two drawings. */
  now(): DraftState
  change(label: string, command: (draft: Draft) => Draft, target?: string): void
  undo(): void
  redo(): void
  /** @returns whether the server has everything now */
  saveNow(): Promise<boolean>
  /** Ends a conflict with what a person has made of both sides. */
  resolve(merged: Definition): void
  /** Ends a conflict by leaving the workflow as the other side has it. */
  takeTheirs(): void
  published(version: number): void
  /** The server has a version that was restored; the draft begins anew from it. */
  restored(version: Saved): void
  restore(copy: CrashCopy): void
}

/**
 * One draft: what is edited, its history, and the saving of it. What the server does not have yet is kept on this
 * device, too; nothing is ever overwritten unseen.
 */
export function useDraft(options: {
  tenantId: string
  workflowId: string
  loaded: Loaded
  server: DraftServer
  readOnly: boolean
  /** Others' changes have been taken over. */
  onMerged: (text: string) => void
}): DraftControl {
  const { tenantId, workflowId, loaded, server, readOnly } = options
  const [state, show] = useState(() => initialState(loaded, loaded.layout, loaded.publishedVersion))
  const current = useRef(state)
  const calls = useRef({ server, onMerged: options.onMerged })
  calls.current = { server, onMerged: options.onMerged }
  const saving = useRef<Promise<boolean> | null>(null)

  const dispatch = useCallback((action: DraftAction) => {
    current.current = reduceDraft(current.current, action)
    show(current.current)
  }, [])

  /** Takes over what the server has; true when nothing is in the way of a save any more. */
  const reconcile = useCallback(async (): Promise<boolean> => {
    const theirs = await calls.current.server.load()
    // What is being typed is ours, too: a field would give way to what comes in.
    flushFields()
    const { base, history } = current.current
    // Older than ours when a save of ours has overtaken the answer.
    if (theirs.version <= base.version) return true
    const mine = history.present.definition
    const { merged, conflicts } = merge(base.definition, mine, theirs.definition)
    if (conflicts.length > 0) {
      dispatch({ type: 'stopped', save: { kind: 'conflict', theirs: { ...theirs, by: theirs.updatedBy } } })
      return false
    }
    const definition = sameDefinition(merged, theirs.definition) ? theirs.definition : merged
    const label = `take over version ${theirs.version}`
    dispatch({ type: 'merged', base: theirs, definition, label, at: Date.now() })
    calls.current.onMerged(`Version ${theirs.version}, saved elsewhere, is now part of this draft. Undo takes it out.`)
    return true
  }, [dispatch])

  const saveAll = useCallback(async (): Promise<boolean> => {
    for (let rounds = 0; isDirty(current.current) && rounds < 20; rounds++) {
      const { history, base, baseLayout, publishedVersion, save } = current.current
      if (save.kind === 'conflict') return false
      const { definition, layout } = history.present
      dispatch({ type: 'saving' })
      try {
        if (definition !== base.definition) {
          const saved = await calls.current.server.save(definitionOf(definition), base.version)
          const next = { version: saved.version, definition }
          dispatch({
            type: 'saved',
            base: next,
            layout: baseLayout,
            publishedVersion: saved.publishedVersion,
            at: Date.now(),
          })
        }
        if (layout !== baseLayout) {
          await calls.current.server.saveLayout(layout)
          dispatch({ type: 'saved', base: current.current.base, layout, publishedVersion, at: Date.now() })
        }
        if (!isDirty(current.current)) await removeCrashCopy(tenantId, workflowId, base.version)
      } catch (error) {
        const { code, message, details } = errorOf(error)
        if (code === 'VERSION_CONFLICT') {
          if (await reconcile().catch(() => false)) continue
          if (current.current.save.kind === 'conflict') return false
        }
        const first = details[0] ? ` ${details[0].path ?? ''} ${details[0].message}` : ''
        dispatch({
          type: 'stopped',
          save:
            code === 'UNREACHABLE'
              ? { kind: 'offline' }
              : { kind: 'failed', message: `${message.replace(/\.$/, '')}.${first}`, passing: PASSING.includes(code) },
        })
        return false
      }
    }
    return !isDirty(current.current)
  }, [dispatch, reconcile, tenantId, workflowId])

  const saveNow = useCallback(async (): Promise<boolean> => {
    flushFields()
    if (readOnly) return true
    if (saving.current) await saving.current
    const run = saveAll()
    saving.current = run
    try {
      return await run
    } finally {
      if (saving.current === run) saving.current = null
    }
  }, [readOnly, saveAll])

  const dirty = isDirty(state)
  const { kind } = state.save
  const passing = state.save.kind === 'offline' || (state.save.kind === 'failed' && state.save.passing)
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change begins the wait anew
  useEffect(() => {
    if (!dirty || readOnly || kind !== 'unsaved') return
    const timer = setTimeout(() => void saveNow(), AUTOSAVE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [state.history.present, dirty, readOnly, kind, saveNow])

  useEffect(() => {
    if (!passing) return
    const again = () => void saveNow()
    const timer = setInterval(again, RETRY_OFFLINE_MS)
    window.addEventListener('online', again)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', again)
    }
  }, [passing, saveNow])

  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== 'visible' || isDirty(current.current) || saving.current) return
      reconcile().catch(() => undefined)
    }
    const onVisibility = () => {
      if (document.visibilityState === 'hidden') void saveNow()
      else look()
    }
    // What opened the editor may come from a cache.
    look()
    const timer = setInterval(look, LOOK_EVERY_MS)
    document.addEventListener('visibilitychange', onVisibility)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [reconcile, saveNow])

  useKeptCopy({ tenantId, workflowId, state, enabled: !readOnly })

  return useMemo(
    () => ({
      state,
      now: () => current.current,
      change(label, command, target) {
        if (readOnly) return
        const draft = command(current.current.history.present)
        if (draft === current.current.history.present) return
        dispatch({ type: 'change', draft, label, at: Date.now(), ...(target === undefined ? {} : { target }) })
      },
      undo: () => dispatch({ type: 'undo' }),
      redo: () => dispatch({ type: 'redo' }),
      saveNow,
      resolve(merged) {
        const { save } = current.current
        if (save.kind !== 'conflict') return
        const definition = sameDefinition(merged, save.theirs.definition) ? save.theirs.definition : merged
        dispatch({ type: 'merged', base: save.theirs, definition, label: 'resolve the conflict', at: Date.now() })
        void saveNow()
      },
      takeTheirs() {
        const { save, history, publishedVersion } = current.current
        if (save.kind !== 'conflict') return
        dispatch({ type: 'reset', base: save.theirs, layout: history.present.layout, publishedVersion })
        void removeCrashCopy(tenantId, workflowId, save.theirs.version)
      },
      published: (version) => dispatch({ type: 'published', version }),
      restored(base) {
        const { history, publishedVersion } = current.current
        dispatch({ type: 'reset', base, layout: history.present.layout, publishedVersion })
      },
      restore({ baseVersion, base, definition, layout }) {
        const { publishedVersion, baseLayout } = current.current
        dispatch({
          type: 'reset',
          base: { version: baseVersion, definition: base },
          layout: baseLayout,
          publishedVersion,
        })
        dispatch({ type: 'change', draft: { definition, layout }, label: 'restore unsaved changes', at: Date.now() })
        void saveNow()
      },
    }),
    [state, readOnly, dispatch, saveNow, tenantId, workflowId],
  )
}
