import { type ButtonProps, type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

/** The accent colour. */
const race: MantineColorsTuple = [
  '#ecfbff',
  '#d3f3fa',
  '#a4e4f2',
  '#6dd0e6',
  '#38b9d6',
  '#159fbf',
  '#0b86a4',
  '#0b6f8a',
  '#0d5a70',
  '#0d4557',
]

/** A neutral grey with a hint of the same blue, for both themes. */
const gray: MantineColorsTuple = [
  '#f7f9fa',
  '#eff2f4',
  '#e3e8eb',
  '#d3dade',
  '#b8c2c9',
  '#8e9ba5',
  '#66737e',
  '#4b5762',
  '#333d46',
  '#1d252c',
]

const dark: MantineColorsTuple = [
  '#dfe6ea',
  '#b6c1c9',
  '#97a4ae',
  '#5f6d78',
  '#3b4751',
  '#2b353e',
  '#222b33',
  '#171e24',
  '#11171c',
  '#0b1014',
]

/** As high as the icon buttons beside them; higher for thumbs, as globals.css says. */
const SMALL_BUTTON = {
  '--button-height': 'var(--small-button)',
  '--button-padding-x': '0.5rem',
  '--button-fz': '0.8125rem',
}
/** Titles of dialogs and panels. By default a title is their weakest text, and its lines touch where it wraps. */
const TITLE = { title: { fontWeight: 600, lineHeight: 1.4 } }

export const theme = createTheme({
  primaryColor: 'race',
  primaryShade: { light: 7, dark: 7 },
  colors: { race, gray, dark },
  fontFamily: 'var(--font-geist-sans), system-ui, sans-serif',
  fontFamilyMonospace: 'var(--font-geist-mono), ui-monospace, monospace',
  headings: { fontFamily: 'var(--font-geist-sans), system-ui, sans-serif', fontWeight: '600' },
  // Labels and buttons. The library uses its weight for headings.
  fontWeights: { medium: '500' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Screen readers need a name for the close icon.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } }, styles: TITLE },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } }, styles: TITLE },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // The library has two small sizes: one with more padding, one with larger text.
    Button: {
      vars: (_theme: unknown, { size }: ButtonProps) => ({
        root: size === 'xs' || size === 'compact-sm' ? SMALL_BUTTON : {},
      }),
    },
    // A menu may contain only menu items, and the placeholder is not one. An item that fades out could be clicked
    // again.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, transitionProps: { exitDuration: 0 } } },
    // The library's colours hardly differ from the page in the dark theme.
    Tabs: { vars: () => ({ root: { '--tabs-color': 'var(--mantine-color-anchor)' } }) },
    SegmentedControl: { styles: { root: { background: 'var(--track)' }, indicator: { background: 'var(--thumb)' } } },
  },
})

/** Contrast of at least 4.5:1 for all text, which the library's defaults do not reach, and our status colours. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': '#1d252c',
    '--mantine-color-dimmed': '#56636e',
    '--mantine-color-placeholder': '#66737e',
    '--mantine-color-error': '#c01f2b',
    '--mantine-color-anchor': '#0b6f8a',
    '--mantine-color-body': '#ffffff',
    '--panel': '#f7f9fa',
    '--hover': '#eff2f4',
    '--track': '#eff2f4',
    '--thumb': '#ffffff',
    '--line': '#e3e8eb',
    '--line-strong': '#b8c2c9',
    '--status-running': '#1a63c4',
    '--status-paused': '#8a5a00',
    '--status-completed': '#1b7240',
    '--status-failed': '#c01f2b',
    '--status-cancelled': '#56636e',
    '--status-running-soft': '#e6f0fd',
    '--status-paused-soft': '#fdf1d8',
    '--status-completed-soft': '#e2f5e9',
    '--status-failed-soft': '#fdebec',
    '--status-cancelled-soft': '#eff2f4',
  },
  dark: {
    '--mantine-color-text': '#dfe6ea',
    '--mantine-color-dimmed': '#97a4ae',
    '--mantine-color-placeholder': '#85929c',
    '--mantine-color-error': '#ff8d8d',
    '--mantine-color-anchor': '#6dd0e6',
    '--mantine-color-body': '#11171c',
    '--panel': '#171e24',
    '--hover': '#1d252c',
    '--track': '#1d252c',
    '--thumb': '#3b4751',
    '--mantine-color-gray-light': '#222b33',
    '--mantine-color-gray-light-hover': '#2b353e',
    '--line': '#2b353e',
    '--line-strong': '#5f6d78',
    '--status-running': '#7db4ff',
    '--status-paused': '#f0bd5a',
    '--status-completed': '#6bd097',
    '--status-failed': '#ff8d8d',
    '--status-cancelled': '#a9b5be',
    '--status-running-soft': '#12263f',
    '--status-paused-soft': '#33270e',
    '--status-completed-soft': '#10301f',
    '--status-failed-soft': '#3b1a1d',
    '--status-cancelled-soft': '#222b33',
  },
})
