'use client'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { loadDialog, loadQuiet, nothing, WaitingDialog } from '@/app/_ui/part'
import { useFocusReturn } from '@/app/_ui/use-focus-return'
import { useSecondClick } from '@/app/_ui/use-second-click'
import { HealthBanner } from './health-banner'
import { Navigation } from './navigation'
import styles from './shell.module.css'
import { useGlobalKeys } from './use-global-keys'

const Palette = dynamic(() => loadDialog(() => import('./palette').then((module) => module.Palette)), {
  ssr: false,
  loading: WaitingDialog,
})
// Shows what was notified before it was loaded too.
const Toasts = dynamic(() => loadQuiet(() => import('./toasts').then((module) => module.Toasts)), {
  ssr: false,
  loading: nothing,
})
const Live = dynamic(() => loadQuiet(() => import('./_live/live').then((module) => module.Live)), {
  ssr: false,
  loading: nothing,
})
const ShortcutSheet = dynamic(() => loadDialog(() => import('./shortcuts').then((module) => module.ShortcutSheet)), {
  ssr: false,
  loading: WaitingDialog,
})

/**
 * The frame of every screen: a navigation rail, or a bar at the bottom on phones, and everything that screens share.
 */
export function Shell({ children }: { children: ReactNode }) {
  const [paletteAsked, setPaletteAsked] = useState(0)
  const [sheet, setSheet] = useState<'never' | 'open' | 'closed'>('never')
  const askPalette = () => setPaletteAsked((times) => times + 1)
  const openSheet = () => setSheet('open')
  useFocusReturn()
  useSecondClick()
  useGlobalKeys({ palette: askPalette, sheet: openSheet })
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <Navigation onSearch={askPalette} onKeys={openSheet} />
      <main id="main" className={styles.main} tabIndex={-1}>
        <HealthBanner />
        {children}
      </main>
      <Toasts />
      {paletteAsked > 0 && <Palette asked={paletteAsked} onKeys={openSheet} />}
      <Live />
      {sheet !== 'never' && <ShortcutSheet opened={sheet === 'open'} onClose={() => setSheet('closed')} />}
    </div>
  )
}
