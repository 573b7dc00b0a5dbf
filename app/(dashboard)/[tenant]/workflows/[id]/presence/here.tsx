'use client'
import { Tooltip } from '@mantine/core'
import { useDocumentVisibility } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import type { Definition } from '@/server/definition/schema'
import { TAB } from '../../../_live/tab'
import { findStep, nameOf, START } from '../model/definition'
import { initialsOf } from './initials'
import { colorClass } from './mark'
import { type Other, setOthers, useOthers } from './others'
import styles from './presence.module.css'

/** The server forgets a tab after two and a half of these. */
const AGAIN_MS = 4_000
/** A selection that moves through the graph is reported once it rests. */
const REST_MS = 250
const SHOWN = 3

/**
 * Shows who else has the workflow open. While this page is visible, reports this user's presence, selected step and
 * version to the server, and learns of newer versions.
 * @param stepId null for none, or several
 * @param version the newest that this page has
 */
export function Here(props: {
  workflowId: string
  definition: Definition
  stepId: string | null
  version: number
  onShow: (stepId: string) => void
  /** Called when another user saved a newer version, until this page has it. */
  onNewer: () => void
}) {
  const { workflowId, definition, stepId, version, onShow, onNewer } = props
  useBeingHere({ id: workflowId, stepId, version, onNewer })
  const others = useOthers()
  if (others.length === 0) return null
  const rest = others.slice(others.length > SHOWN ? SHOWN - 1 : SHOWN)
  return (
    <ul className={styles.list} aria-label="Also here">
      {others.slice(0, others.length - rest.length).map((person) => (
        <li key={person.id}>
          <Avatar person={person} definition={definition} onShow={onShow} />
        </li>
      ))}
      {rest.length > 0 && (
        <li>
          <Tooltip label={rest.map((person) => whereText(person, definition)).join('; ')} multiline maw={320}>
            <button
              type="button"
              aria-disabled
              className={`${styles.avatar} ${styles.more}`}
              aria-label={rest.map((person) => whereText(person, definition)).join('; ')}
            >
              +{rest.length}
            </button>
          </Tooltip>
        </li>
      )}
    </ul>
  )
}

function Avatar({
  person,
  definition,
  onShow,
}: {
  person: Other
  definition: Definition
  onShow: (stepId: string) => void
}) {
  const text = whereText(person, definition)
  const there = person.stepId !== null && stepName(definition, person.stepId) !== null ? person.stepId : null
  return (
    <Tooltip label={text} events={{ hover: true, focus: true, touch: true }}>
      <button
        type="button"
        aria-label={text}
        aria-disabled={there === null || undefined}
        className={`${styles.avatar} ${colorClass(person)}`}
        onClick={() => there !== null && onShow(there)}
      >
        {initialsOf(person.name)}
      </button>
    </Tooltip>
  )
}

function whereText({ name, stepId }: Other, definition: Definition): string {
  const step = stepId === null ? null : stepName(definition, stepId)
  return step === null ? name : `${name}, at ${step}`
}

function stepName(definition: Definition, stepId: string): string | null {
  const step = findStep(definition, stepId)
  return stepId === START ? 'START' : step ? nameOf(step) : null
}

/** Repeats this tab's presence and stores the others'. */
function useBeingHere(here: { id: string; stepId: string | null; version: number; onNewer: () => void }): void {
  const { id, stepId, version, onNewer } = here
  const trpc = useTRPC()
  const client = useTRPCClient()
  const visible = useDocumentVisibility() !== 'hidden'
  const place = useRef({ id, tab: TAB, stepId, version })
  place.current = { id, tab: TAB, stepId, version }
  // The key has no step: this user's step does not change the list.
  const query = useQuery({
    queryKey: trpc.live.here.queryKey({ id, tab: TAB, stepId: null }),
    queryFn: () => client.live.here.query(place.current),
    enabled: visible,
    refetchInterval: AGAIN_MS,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  const { data, dataUpdatedAt, isError, refetch } = query
  useEffect(() => setOthers(visible && !isError ? (data?.people ?? []) : []), [data, isError, visible])

  const newer = useRef(onNewer)
  newer.current = onNewer
  const newest = data?.version ?? 0
  useEffect(() => {
    // Repeated with each response, because the page may have been unable to merge.
    if (visible && dataUpdatedAt > 0 && newest > version) newer.current()
  }, [visible, dataUpdatedAt, newest, version])

  const told = useRef({ stepId, version })
  useEffect(() => {
    if (told.current.stepId === stepId && told.current.version === version) return
    const timer = setTimeout(() => {
      told.current = { stepId, version }
      void refetch()
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [stepId, version, refetch])

  useEffect(() => {
    if (!visible) return
    const leave = () => void client.live.here.query({ ...place.current, gone: true }).catch(() => {})
    window.addEventListener('pagehide', leave)
    return () => {
      window.removeEventListener('pagehide', leave)
      leave()
      setOthers([])
    }
  }, [visible, client])
}
