import { usdText } from './usd.js';

/** What each billed thing is called. @type {Readonly<Record<string, string>>} */
const things = {
  output_image: 'made',
  input_image: 'read',
  input_reference: 'as a reference',
  input_text: 'of prompt',
};

/** @param {import('../client/records.d.ts').ImageModel} model */
export const imagePrices = ({ pricing }) =>
  pricing
    .map(({ billable, unit, usd, variant }) => {
      const what = Object.hasOwn(things, billable) ? things[billable] : billable;
      return `${usdText(usd)} per ${unit} ${what}${variant === undefined ? '' : ` (${variant})`}`;
    })
    .join(' · ');
