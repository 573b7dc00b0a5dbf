'use client'
import { UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { StatusPill } from '@/app/_ui/status-pill'
import { durationText } from '@/app/_ui/time-text'
import { stateOf, type Visit } from '../../../runs/[runId]/timeline-model'
import styles from './test-panel.module.css'

const ROW_PX = 34

/** The visits of a test run; only visible ones are rendered, because a loop over a long list makes thousands. */
export function VisitList(props: { visits: readonly Visit[]; shown: Visit | null; onShow: (visit: Visit) => void }) {
  const { visits, shown, onShow } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: visits.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  })
  return (
    <div ref={scroller} className={styles.scroller}>
      <ol className={styles.visits} aria-label="Steps so far" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const visit = visits[index]
          if (!visit) return null
          return (
            <li
              key={visit.seq}
              className={styles.item}
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={visits.length}
              aria-posinset={index + 1}
            >
              <UnstyledButton
                className={styles.visit}
                aria-current={visit === shown || undefined}
                onClick={() => onShow(visit)}
              >
                <span className={styles.name} title={visit.name}>
                  {visit.name}
                </span>
                <StatusPill status={stateOf(visit)} />
                <span className={styles.time}>{visit.end === null ? '' : durationText(visit.end - visit.start)}</span>
              </UnstyledButton>
            </li>
          )
        })}
      </ol>
    </div>
  )
}
