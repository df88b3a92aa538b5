import { useState } from 'react';
import { Maximize2 } from 'lucide-react';

// Chainlit runs this file anew at every update. The component is kept, so that React sees the same one and what the
// user typed or unfolded stays.
const Impact = (window.repopilotImpact ||= function ({ props }) {
  const [wide, setWide] = useState(false);
  return (
    <section className="rp-impact">
      <div className="rp-row">
        <span className="rp-risk" data-risk={props.risk}>Risk {props.risk}</span>
        <span className="rp-muted rp-number">{props.counts.join(' · ')}</span>
        <span className="rp-grow" />
        <button className="rp-button" onClick={() => setWide(!wide)}><Maximize2 size={13} /> {wide ? 'Fit the picture' : 'Full size'}</button>
      </div>
      <div className="rp-picture" tabIndex={0}>
        <img src={props.picture} alt={`Files affected by the change, by distance: ${props.alt}`} style={wide ? { maxWidth: 'none' } : { maxWidth: '100%' }} />
      </div>
    </section>
  );
});

export default <Impact props={props} />;
