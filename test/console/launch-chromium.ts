import { type Browser, chromium } from 'playwright-core';

/**
 * Chromium with nothing of its own beside the page: for each window, headless ones too, it would draw the suggestions of its
 * address bar in a process apart, which takes more than a second of a core.
 */
export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: [`--disable-features=${UNUSED.join(',')}`] });

/** The second half is what playwright turns off by itself: an argument replaces its list. */
const UNUSED = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
  ...['AimEnabled', 'AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose'],
  ...['HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay', 'MediaRouter'],
  ...['NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
];
