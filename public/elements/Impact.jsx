import { useState } from 'react';
import { Maximize2 } from 'lucide-react';

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Impact = (window.repopilotImpact ||= function ({ props }) {
  const [wide, setWide] = useState(false);
  return (
    <section className="rp-impact">
      <div className="rp-row">
        <span className="rp-risk" data-risk={props.risk}>{props.label}</span>
        <span className="rp-muted rp-number">{props.counts}</span>
        <span className="rp-grow" />
        <button className="rp-button" onClick={() => setWide(!wide)}><Maximize2 size={13} /> {wide ? props.words.fit : props.words.full_size}</button>
      </div>
      <div className="rp-picture" tabIndex={0}>
        <img src={props.picture} alt={props.alt} style={wide ? { maxWidth: 'none' } : { maxWidth: '100%' }} />
      </div>
    </section>
  );
});

export default <Impact props={props} />;
